"""The forms of django-allauth, without placeholders: each field has a label."""

from typing import Any

from allauth.account import forms
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm


class _WithoutPlaceholders:
    """A form whose fields repeat nothing in a placeholder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # type: ignore[attr-defined]
            field.widget.attrs.pop("placeholder", None)


class SignInForm(_WithoutPlaceholders, forms.LoginForm):
    """User name or mail address, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Username or email"
        self.fields["login"].widget.attrs["autocomplete"] = "username"


class SignUpForm(_WithoutPlaceholders, forms.SignupForm):
    """Mail address, user name and password of a new account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = "Letters, digits and the characters . + - _. Reviewers see this name."


class AddressForm(_WithoutPlaceholders, forms.AddEmailForm):
    """A new mail address."""


class PasswordChangeForm(_WithoutPlaceholders, forms.ChangePasswordForm):
    """The current password and a new one."""


class PasswordResetForm(_WithoutPlaceholders, forms.ResetPasswordForm):
    """The mail address of an account whose password is lost."""


class NewPasswordForm(_WithoutPlaceholders, forms.ResetPasswordKeyForm):
    """A new password, after a link from a mail."""


class PasswordForm(_WithoutPlaceholders, forms.ReauthenticateForm):
    """The password again, before a change of the account."""


class CodeForm(_WithoutPlaceholders, AuthenticateForm):
    """A code of the authenticator app, or a recovery code, at the sign-in."""


class CodeAgainForm(_WithoutPlaceholders, ReauthenticateForm):
    """Such a code before a change of the account."""


class AuthenticatorAppForm(_WithoutPlaceholders, ActivateTOTPForm):
    """The first code of a new authenticator app."""


class PasskeyForm(_WithoutPlaceholders, AddWebAuthnForm):
    """The name and the use of a new passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["passwordless"]
        field.label, field.initial = "Sign in with this passkey alone, without the password", True
        field.help_text = "The device then asks for its PIN or your fingerprint. Simple security keys cannot do this."
