import json
import sys
from urllib.parse import parse_qs, urlsplit

import openapi_client as foyer

given = json.loads(sys.argv[1])
client = foyer.ApiClient(foyer.Configuration(host=given["url"], access_token=given["key"]))
events_api, tickets_api, orders_api = foyer.EventsApi(client), foyer.TicketsApi(client), foyer.OrdersApi(client)
catalog_api, changes_api = foyer.CatalogApi(client), foyer.ChangesApi(client)

window = {"updated_at_gte": given["from"], "updated_at_lte": given["until"], "per_page": given["perPage"]}
first = tickets_api.list_tickets(event_ids=given["eventIds"], **window)
snapshot = parse_qs(urlsplit(first.next_page).query)["snapshot"][0]
second = tickets_api.list_tickets(event_ids=given["eventIds"], **window, page=2, snapshot=snapshot)
events = events_api.list_events(per_page=100)
sessions = events_api.list_event_sessions(given["eventId"])
orders = orders_api.list_orders(per_page=100)
offers = catalog_api.list_offers("preview", per_page=100)
event = events_api.get_event(given["eventId"])
ticket = tickets_api.get_ticket(given["ticketId"])
order = orders_api.get_order(given["orderId"])
offer = catalog_api.get_offer(given["offerId"], "preview")
try:
    raise AssertionError(tickets_api.list_tickets(updated_at_gte="never"))
except foyer.exceptions.BadRequestException as error:
    refused = error.data
changes = changes_api.read_changes_without_preload_content("preview", collections=["offers"])

output = {
    "pages": [page.to_dict() for page in (events, sessions, first, second, orders, offers)],
    "records": [record.to_dict() for record in (event, ticket, order, offer)],
    "values": [event.venue_address.city, offer.actual_instance.inventory[0].available_stock],
    "refused": refused.errors[0].loc,
    "changes": [json.loads(line)["change"] for line in changes.data.splitlines()],
}
print(json.dumps(output))
