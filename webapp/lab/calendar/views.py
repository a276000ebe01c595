"""The page of the calendar."""

from django.core.paginator import Paginator
from django.http import HttpResponse

from webapp.accounts.requests import UserRequest
from webapp.lab.calendar.periods import calendars_of, hosts_in_service
from webapp.lab.shared.views import PAGE_ROWS, operator_page, render_page


@operator_page
def calendar(request: UserRequest) -> HttpResponse:
    """List what is expected on the drives of each host in service."""
    page = Paginator(hosts_in_service(), PAGE_ROWS).get_page(request.GET.get("page"))
    context = {"page": page, "calendars": calendars_of(list(page.object_list))}
    return render_page(request, "lab/calendar.html", context)
