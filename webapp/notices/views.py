"""The choice of how often mail is sent, and the mails that could not be delivered."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.requests import UserRequest, mark_private, members_only, operators_only
from webapp.notices.delivery import send_again
from webapp.notices.models import Frequency, Mail, frequency_of
from webapp.notices.preferences import set_frequency, user_of_link

SHOWN = 200
ONE_CLICK = ("List-Unsubscribe", "One-Click")  # RFC 8058


@csrf_exempt  # the signature is the right to change the choice; mail programs send no other secret
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def mail_choice(request: HttpRequest, user_id: int, signature: str) -> HttpResponse:
    """Show and change the choice of the recipient of a mail. Following the link alone changes nothing."""
    user = user_of_link(user_id, signature)
    if user is None:
        return mark_private(render(request, "notices/invalid_link.html", status=404))
    if request.method == "POST":
        name, value = ONE_CLICK
        chosen = Frequency.NONE if request.POST.get(name) == value else request.POST.get("frequency", "")
        if chosen not in Frequency.values:
            return _unknown_frequency(chosen)
        set_frequency(user, Frequency(chosen))
    page = {"recipient": user, "frequency": frequency_of(user.pk), "is_changed": request.method == "POST"}
    return mark_private(render(request, "notices/mail_choice.html", page))


@require_POST
@members_only
def change_frequency(request: UserRequest) -> HttpResponse:
    """Change the choice of the signed-in user."""
    chosen = request.POST.get("frequency", "")
    if chosen not in Frequency.values:
        return _unknown_frequency(chosen)
    set_frequency(request.user, Frequency(chosen))
    messages.success(request, f"Mail about changes: {Frequency(chosen).label}.")
    return redirect("account")


@require_safe
@operators_only
def undelivered(request: UserRequest) -> HttpResponse:
    """List mails that failed or are tried again. It shows no text: operators may not read submissions."""
    mails = Mail.objects.select_related("recipient").prefetch_related("notices")
    retried = mails.filter(state__in=[Mail.State.PENDING, Mail.State.SENDING], attempts__gt=0)
    page = {
        "failed": mails.filter(state=Mail.State.FAILED).order_by("-ended_at")[:SHOWN],
        "shows_sent": not settings.PRODUCTION and settings.MAIL_IS_STORED,
        "retried": retried.order_by("created_at")[:SHOWN],
    }
    return render(request, "notices/undelivered.html", page)


@require_POST
@operators_only
def retry(request: UserRequest, mail_id: int) -> HttpResponse:
    """Queue a failed mail again."""
    mail = get_object_or_404(Mail, pk=mail_id)
    if send_again(mail):
        messages.success(request, f"The mail to {mail.recipient} is queued again.")
    return redirect("undelivered-mail")


def _unknown_frequency(chosen: str) -> HttpResponse:
    """Return the refusal, as plain text because it repeats what the client sent."""
    text = f"Unknown frequency {chosen!r}. Expected one of {', '.join(Frequency.values)}."
    return HttpResponseBadRequest(text, content_type="text/plain; charset=utf-8")
