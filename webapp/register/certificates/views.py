"""The permanent page of a certificate, also of a withdrawn one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from results.models import Certificate, Product
from webapp.register.certificates import page
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.tables import categories
from webapp.register.tables.sentences import product_name


@public_page
def certificate(request: HttpRequest, public_id: str) -> HttpResponse:
    given_of(request.GET, ())
    public = Certificate.objects.filter(product__in=Product.objects.public())
    found = public.filter(public_id=public_id).select_related("product", "profile").first()
    if found is None:
        raise Http404(f"There is no certificate {public_id}.")
    runs = page.runs_of(found)
    history, withdrawal = page.history_of(found)
    context = {
        "section": "drives",
        "certificate": found,
        "product": found.product,
        "category": categories.spec_of(found.product),
        "name": product_name(found.product),
        "is_withdrawn": found.state == Certificate.State.WITHDRAWN,
        "withdrawal": withdrawal,
        "sentence": page.certificate_sentence(found),
        "total_tps": page.total_tps(found),
        "load_words": page.load_words(found),
        "age": page.age_words(found.issued_at, timezone.now()),
        "later_firmware": page.later_firmware(found),
        "runs": runs,
        "worst_slices": page.worst_slices(found, runs),
        "present": page.present_of(found),
        "notes": found.document.get("reasons", []),
        "history": history,
    }
    return render(request, "register/certificates/certificate.html", context)
