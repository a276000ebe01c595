"""The members of organisations: invitations, roles, and the end of memberships."""
