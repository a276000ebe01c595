"""The tokens of the person who is signed in."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.forms import TokenForm
from webapp.accounts.models import APIToken
from webapp.accounts.requests import UserRequest, members_only


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def tokens(request: UserRequest) -> HttpResponse:
    """List the tokens; a new one's secret is in the answer to the request that made it and nowhere else."""
    form = TokenForm(request.user, request.POST or None)
    page: dict[str, object] = {"form": form}
    if request.method == "POST" and form.is_valid():
        page["issued"], page["secret"] = form.issue()
        page["form"] = TokenForm(request.user)
    page["tokens"] = APIToken.objects.filter(user=request.user).select_related("organisation").order_by("-created_at")
    return render(request, "accounts/tokens.html", page)


@require_POST
@members_only
def revoke_token(request: UserRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(APIToken, pk=token_id, user=request.user)
    APIToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
    return redirect("token-list")
