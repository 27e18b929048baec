"""Telling people: inbox, subscriptions, webhooks and their deliveries."""
