"""The only place that formats numbers for people."""

from django import template

register = template.Library()
