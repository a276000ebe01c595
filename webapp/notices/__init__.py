"""Notices: what the register sends to people about changes, and when it waits for them.

`subscriptions` and `outbox` write notices in the transaction of a change. `gathering` makes mails of them, `messages`
and `sentences` their texts, and `delivery` sends them. `providers` names the ways of sending mail.
"""
