"""The form that asks for a token."""

from typing import Any

from django import forms

from results.models import Organisation
from webapp.accounts.models import APIToken, User, issue_token
from webapp.accounts.requests import organisations_of


class TokenForm(forms.Form):
    """A name to know the token by, and whom it acts for."""

    name = forms.CharField(max_length=100, help_text="To know it by, such as the script or the machine that uses it.")
    organisation = forms.ModelChoiceField(Organisation.objects.none(), empty_label=None)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        field = self.fields["organisation"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
        field.queryset = organisations_of(user)

    def clean_name(self) -> str:
        """Refuse a name in use: a page reloaded after making a token would make another one, unseen."""
        name: str = self.cleaned_data["name"]
        if APIToken.objects.valid().filter(user=self.user, name=name).exists():
            raise forms.ValidationError(f"You have a token {name} already. Choose another name, or revoke that one.")
        return name

    def issue(self) -> tuple[APIToken, str]:
        """Create the token that was asked for and return it with its secret, which is not stored."""
        return issue_token(self.user, self.cleaned_data["organisation"], self.cleaned_data["name"])
