"""The forms of django-allauth with the register's labels and help texts."""

from typing import Any

from allauth.account import forms
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm

from webapp.accounts.memberships.remembered import remembered_invitation

NEW_PASSWORD = "At least 12 characters, and not one of the most common passwords."


class _Plain:
    """A form whose fields repeat nothing in a placeholder, and whose help texts are sentences."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # type: ignore[attr-defined]
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:  # type: ignore[attr-defined]
            self.fields["password1"].help_text = NEW_PASSWORD  # type: ignore[attr-defined]


class SignInForm(_Plain, forms.LoginForm):
    """User name or mail address, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Username or email"
        self.fields["login"].widget.attrs["autocomplete"] = "username"


class SignUpForm(_Plain, forms.SignupForm):
    """Mail address, user name and password of a new account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        request = context.request
        invitation = remembered_invitation(request) if request is not None else None
        if invitation is not None:
            self.fields["email"].initial = invitation.email
        self.fields["username"].help_text = "Letters, digits and the characters . + - _. Reviewers see this name."


class AddressForm(_Plain, forms.AddEmailForm):
    """A new mail address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "New email address"


class PasswordChangeForm(_Plain, forms.ChangePasswordForm):
    """The current password and a new one."""


class PasswordResetForm(_Plain, forms.ResetPasswordForm):
    """The mail address of an account whose password is lost."""


class NewPasswordForm(_Plain, forms.ResetPasswordKeyForm):
    """A new password, after a link from a mail."""


class PasswordForm(_Plain, forms.ReauthenticateForm):
    """The password again, before a change of the account."""


class CodeForm(_Plain, AuthenticateForm):
    """A code of the authenticator app, or a recovery code, at the sign-in."""


class CodeAgainForm(_Plain, ReauthenticateForm):
    """Such a code before a change of the account."""


class AuthenticatorAppForm(_Plain, ActivateTOTPForm):
    """The first code of a new authenticator app."""


class PasskeyForm(_Plain, AddWebAuthnForm):
    """The name and the use of a new passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["passwordless"]
        field.label, field.initial = "Sign in with this passkey alone, without the password", True
        field.help_text = "The device then asks for its PIN or your fingerprint. Simple security keys cannot do this."
