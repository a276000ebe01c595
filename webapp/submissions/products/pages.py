"""The products as reviewers see them: a list with search, and a page with all changes of one product."""

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from results.errors import ReviewRefusedError
from results.history import event_label
from results.models import Event, ListPrice, Product, ProductAlias, ProductMove, Run
from results.naming.addresses import all_slugs, current_product, product_of_slug
from results.naming.aliases import IDENTITY, revoke_alias
from results.products import creation, facts, moves
from results.products.renaming import rename
from webapp.accounts.requests import UserRequest, reviewers_only
from webapp.register.news.product_sentences import change_words
from webapp.submissions.changes import refusals_shown
from webapp.submissions.forms import IdentityForm, ReasonForm, valid_data
from webapp.submissions.products.forms import (
    FactsForm,
    PriceForm,
    RenameForm,
    SplitForm,
    TargetForm,
    facts_form,
)

PAGE_ROWS = 50
KEY_DIGITS = 18
Act = Callable[[UserRequest, Product], str]


@require_safe
@reviewers_only
def product_list(request: UserRequest) -> HttpResponse:
    """List all products, also those that are not public; `q` finds words of their names."""
    words = request.GET.get("q", "").split()
    products = Product.objects.filter(merged_into__isnull=True).order_by("vendor", "model", "capacity_gb", "pk")
    for word in words:
        products = products.filter(
            Q(vendor__icontains=word)
            | Q(model__icontains=word)
            | Q(slug__icontains=word)
            | Q(part_number__icontains=word)
        )
    runs = Run.objects.filter(product=OuterRef("pk")).order_by().values("product").annotate(all=Count("pk"))
    counted = products.annotate(runs_count=Coalesce(Subquery(runs.values("all")), 0))  # counted for the page alone
    page = Paginator(counted, PAGE_ROWS).get_page(request.GET.get("page"))
    context = {"section": "submit", "page": page, "q": " ".join(words)}
    return render(request, "submissions/products/list.html", context)


@require_safe
@reviewers_only
def product_review(request: UserRequest, slug: str) -> HttpResponse:
    """Show the possible changes of a product, and its history."""
    product = _find(slug)
    if product.slug != slug:
        return redirect("product-review", product.slug)
    version = {"version": product.version}
    identity = {name: getattr(product, name) for name in IDENTITY}
    history = Event.objects.filter(subject_type="product", subject_id__in=all_slugs(product)).select_related("actor")
    context = {
        "section": "submit",
        "product": product,
        "is_public": Product.objects.public().filter(pk=product.pk).exists(),
        "runs": list(product.runs.order_by("pk")),
        "aliases": list(product.aliases.filter(revoked_at__isnull=True).select_related("decided_by")),
        "prices": list(facts.current_prices(product)),
        "moves": [move for move in moves.moves_of(product) if move.reverted_at is None],
        "facts_form": facts_form(product),
        "rename_form": RenameForm(initial=identity | version, auto_id="rename_%s"),
        "price_form": PriceForm(initial=version, auto_id="price_%s"),
        "merge_form": TargetForm(auto_id="merge_%s"),
        "split_form": SplitForm(auto_id="split_%s"),
        "split_name_form": IdentityForm(initial=identity, auto_id="split_name_%s", use_required_attribute=False),
        "history": [(event, event_label(event.kind), change_words(event.kind, event.details)) for event in history],
    }
    return render(request, "submissions/products/detail.html", context)


@require_POST
@reviewers_only
def act_on_product(request: UserRequest, slug: str, act: str) -> HttpResponse:
    """Carry out one change of a product, and return to its page, which shows the result."""
    product = _find(slug)
    if act not in ACTS:
        raise Http404(f"There is no action on a product with the name {act}.")
    with refusals_shown(request):
        messages.success(request, ACTS[act](request, product))
    present = current_product(Product.objects.get(pk=product.pk))
    return redirect("product-review", present.slug)


def _find(slug: str) -> Product:
    product = product_of_slug(slug)
    if product is None:
        raise Http404(f"There is no product {slug}.")
    return product


def _key(request: UserRequest, name: str) -> int:
    """Return the key of a row from a form. Raises Http404 for an impossible one."""
    key = request.POST.get(name, "")
    if not (key.isascii() and key.isdigit() and len(key) <= KEY_DIGITS):
        raise Http404(f"Expected the key of a row, got {key[:KEY_DIGITS]}.")
    return int(key)


def _reason(request: UserRequest) -> str:
    return str(valid_data(ReasonForm(request.POST))["reason"])


def _change_facts(request: UserRequest, product: Product) -> str:
    form = FactsForm(request.POST)
    stated = valid_data(form)
    facts.change_facts(product, form.facts(), request.user, stated["reason"], stated["version"])
    return "The facts are changed. The history shows the values before and after."


def _rename(request: UserRequest, product: Product) -> str:
    form = RenameForm(request.POST)
    stated = valid_data(form)
    rename(product, form.identity(), request.user, stated["reason"], stated["version"])
    return "The product has a new name. Its former addresses redirect."


def _add_price(request: UserRequest, product: Product) -> str:
    form = PriceForm(request.POST)
    stated = valid_data(form)
    facts.add_price(product, form.price(), request.user, version=stated["version"])
    return "The list price is entered."


def _remove_price(request: UserRequest, product: Product) -> str:
    price = ListPrice.objects.select_related("product").filter(product=product, pk=_key(request, "price")).first()
    if price is None:
        raise Http404("This product has no such list price.")
    facts.remove_price(price, request.user, _reason(request))
    return "The list price is removed. The history keeps it."


def _revoke_alias(request: UserRequest, product: Product) -> str:
    alias = ProductAlias.objects.filter(product=product, pk=_key(request, "alias")).first()
    if alias is None:
        raise Http404("This product has no such alias.")
    revoke_alias(alias, request.user, _reason(request))
    return f"{alias} no longer means this product. Submissions that were matched by it stay."


def _merge(request: UserRequest, product: Product) -> str:
    stated = valid_data(TargetForm(request.POST))
    moves.merge(product, stated["target"], request.user, stated["reason"])
    return f"{product.slug} is merged into {stated['target'].slug}. Its addresses redirect."


def _split(request: UserRequest, product: Product) -> str:
    stated = valid_data(SplitForm(request.POST))
    runs = request.POST.getlist("run")
    if not runs:
        raise ReviewRefusedError("No run was chosen. Tick the runs that move.")
    with transaction.atomic():
        target = stated["target"]
        if target is None:
            form = IdentityForm(request.POST)
            valid_data(form)
            target = creation.create(form.identity(), request.user, product)
        moves.split(product, runs, target, request.user, stated["reason"])
    return f"{len(runs)} of its runs moved to {reverse('product', args=[target.slug])}."


def _revert(request: UserRequest, product: Product) -> str:
    move = moves.moves_of(product).filter(pk=_key(request, "move")).first()
    if move is None:
        raise Http404("This product has no such merge or split.")
    moves.revert(move, request.user, _reason(request))
    return f"The {ProductMove.Kind(move.kind).label.lower()} is reverted."


ACTS: dict[str, Act] = {
    "facts": _change_facts,
    "rename": _rename,
    "price": _add_price,
    "remove-price": _remove_price,
    "revoke-alias": _revoke_alias,
    "merge": _merge,
    "split": _split,
    "revert": _revert,
}
