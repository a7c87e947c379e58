import json
import sys
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from foyer_api_client import AuthenticatedClient, models
from foyer_api_client.api.catalog import get_offer, list_offers
from foyer_api_client.api.changes import read_changes
from foyer_api_client.api.events import get_event, list_event_sessions, list_events
from foyer_api_client.api.orders import get_order, list_orders
from foyer_api_client.api.tickets import get_ticket, list_tickets

Model = TypeVar("Model")

given = json.loads(sys.argv[1])
client = AuthenticatedClient(base_url=given["url"], token=given["key"])


def read(model: type[Model], found: object) -> Model:
    assert isinstance(found, model), found
    return found


def list_filtered(**page: Any) -> models.TicketPage:
    window: Any = {"updated_at_gte": given["from"], "updated_at_lte": given["until"], "per_page": given["perPage"]}
    return read(models.TicketPage, list_tickets.sync(client=client, event_ids=given["eventIds"], **window, **page))


first = list_filtered()
second = list_filtered(page=2, snapshot=parse_qs(urlsplit(first.next_page or "").query)["snapshot"][0])
events = read(models.EventPage, list_events.sync(client=client, per_page=100))
sessions = read(models.EventSessionPage, list_event_sessions.sync(given["eventId"], client=client))
orders = read(models.OrderPage, list_orders.sync(client=client, per_page=100))
offers = read(models.OfferPage, list_offers.sync(client=client, per_page=100))
event = read(models.Event, get_event.sync(given["eventId"], client=client))
ticket = read(models.Ticket, get_ticket.sync(given["ticketId"], client=client))
order = read(models.Order, get_order.sync(given["orderId"], client=client))
offer = read(models.TicketOffer, get_offer.sync(given["offerId"], client=client))
refused = read(models.Problem, list_tickets.sync(client=client, updated_at_gte="never"))
changes = read_changes.sync_detailed(client=client, collections=[models.ReadChangesCollectionsItem.OFFERS])
assert event.venue_address and refused.errors

output = {
    "pages": [page.to_dict() for page in (events, sessions, first, second, orders, offers)],
    "records": [record.to_dict() for record in (event, ticket, order, offer)],
    "values": [event.venue_address.city, offer.inventory[0].available_stock],
    "refused": refused.errors[0].loc,
    "changes": [json.loads(line)["change"] for line in changes.content.splitlines()],
}
print(json.dumps(output))
