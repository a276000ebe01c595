"""Accounts, built on django-allauth: sign-in, addresses, second factors, sessions, memberships, and API tokens.

`adapters` holds what differs from allauth, `required_steps` which pages a user reaches, `throttle` the limits on wrong
passwords. `views` has the account page and the tokens. `requests` finds the token of a request; webapp/api refuses
requests without one.
"""
