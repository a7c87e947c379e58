import json
import sys
from urllib.parse import parse_qs, urlsplit

from foyer_api_client import AuthenticatedClient
from foyer_api_client.api.catalog import list_offers
from foyer_api_client.api.changes import read_changes
from foyer_api_client.api.tickets import list_tickets
from foyer_api_client.models import (
    BundleOffer,
    ListOffersType,
    OfferPage,
    ProductOffer,
    QueryProblem,
    ReadChangesCollectionsItem,
    TicketOffer,
    TicketPage,
)
from foyer_api_client.types import UNSET, Unset

given = json.loads(sys.argv[1])
client = AuthenticatedClient(base_url=given["url"], token=given["key"])
event_ids, since, until = given["eventIds"], given["from"], given["until"]


def list_page(page: int, snapshot: str | Unset = UNSET) -> TicketPage:
    found = list_tickets.sync(
        client=client,
        event_ids=event_ids,
        updated_at_gte=since,
        updated_at_lte=until,
        per_page=3,
        page=page,
        snapshot=snapshot,
    )
    assert isinstance(found, TicketPage), found
    return found


first = list_page(1)
assert first.next_page is not None
snapshot = parse_qs(urlsplit(first.next_page).query)["snapshot"][0]
second = list_page(2, snapshot)
tickets = [[ticket.ticket_id, ticket.final_paid_price] for ticket in first.items + second.items]

offers: list[object] = []
for offer_type in (ListOffersType.TICKET, ListOffersType.PRODUCT, ListOffersType.BUNDLE):
    found = list_offers.sync(client=client, type_=offer_type, per_page=1)
    assert isinstance(found, OfferPage), found
    for offer in found.items:
        if isinstance(offer, TicketOffer):
            offers.append([entry.available_stock for entry in offer.inventory])
        elif isinstance(offer, ProductOffer):
            offers.append([entry.weight_in_grams for entry in offer.inventory])
        elif isinstance(offer, BundleOffer):
            offers.append([entry.offer_id for entry in offer.contains])

refused = list_tickets.sync(client=client, page=0)
assert isinstance(refused, QueryProblem), refused

stream = read_changes.sync_detailed(client=client, collections=[ReadChangesCollectionsItem.OFFERS])
changes = [json.loads(line)["change"] for line in stream.content.splitlines()]

errors = [error.loc for error in refused.errors]
print(json.dumps({"tickets": tickets, "offers": offers, "refused": errors, "changes": changes}))
