import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import models

given = json.loads(sys.argv[1])
headers = {"Authorization": f"Bearer {given['key']}", "Service-API-Version": "preview"}
client = httpx.Client(base_url=given["url"], headers=headers)


def read(model: Any, path: str, query: Any = {}) -> Any:
    return model.model_validate_json(client.get(path, params=query).content)


window = {"updatedAt.gte": given["from"], "updatedAt.lte": given["until"], "perPage": given["perPage"]}
filters = {"eventIds": given["eventIds"], **window}
first = read(models.TicketPage, "/v1/tickets", filters)
snapshot = parse_qs(urlsplit(str(first.nextPage)).query)["snapshot"]
second = read(models.TicketPage, "/v1/tickets", {**filters, "page": 2, "snapshot": snapshot})
events = read(models.EventPage, "/v1/events", {"perPage": 100})
sessions = read(models.EventSessionPage, f"/v1/events/{given['eventId']}/sessions")
orders = read(models.OrderPage, "/v1/orders", {"perPage": 100})
offers = read(models.OfferPage, "/v1/catalog/offers", {"perPage": 100})
event = read(models.Event, f"/v1/events/{given['eventId']}")
ticket = read(models.Ticket, f"/v1/tickets/{given['ticketId']}")
order = read(models.Order, f"/v1/orders/{given['orderId']}")
offer = read(models.Offer, f"/v1/catalog/offers/{given['offerId']}")
refused = read(models.Problem, "/v1/tickets", {"updatedAt.gte": "never"})
changes = client.get("/v1/changes", params={"collections": "offers"}).text.splitlines()

output = {
    "pages": [page.model_dump(mode="json") for page in (events, sessions, first, second, orders, offers)],
    "records": [record.model_dump(mode="json") for record in (event, ticket, order, offer)],
    "values": [event.venueAddress.city, offer.root.inventory[0].availableStock],
    "refused": refused.errors[0].loc,
    "changes": [models.ChangeLine.model_validate_json(line).root.change for line in changes],
}
print(json.dumps(output))
