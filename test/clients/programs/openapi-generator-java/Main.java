import com.google.gson.JsonParser;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

record Given(String url, String key, List<String> eventIds, String from, String until, int perPage, String eventId,
    String ticketId, String orderId, String offerId) {}

class Main {
  public static void main(String[] arguments) throws Exception {
    var client = new ApiClient();
    var given = JSON.getGson().fromJson(arguments[0], Given.class);
    client.setBasePath(given.url()).setBearerToken(given.key());
    var eventsApi = new EventsApi(client);
    var ticketsApi = new TicketsApi(client);
    var ordersApi = new OrdersApi(client);
    var catalogApi = new CatalogApi(client);

    var first = listTickets(ticketsApi, given, given.from(), 1, null);
    var link = first.getNextPage().getQuery().split("&");
    var snapshot = Arrays.stream(link).filter(text -> text.startsWith("snapshot=")).findFirst().orElseThrow();
    var second = listTickets(ticketsApi, given, given.from(), 2, snapshot.substring("snapshot=".length()));
    var events = eventsApi.listEvents(1, 100, null, null, null, null, null, null, null, null);
    var sessions = eventsApi.listEventSessions(given.eventId(), null, null, null, null, null, null, null, null, null, null,
        null);
    var orders = ordersApi.listOrders(1, 100, null, null, null, null, null, null, null, null, null, null);
    var offers = catalogApi.listOffers("preview", 1, 100, null, null, null, null, null, null, null, null, null, null);
    var event = eventsApi.getEvent(given.eventId(), null, null, null, null);
    var ticket = ticketsApi.getTicket(given.ticketId(), null, null, null, null);
    var order = ordersApi.getOrder(given.orderId(), null, null, null, null);
    var offer = catalogApi.getOffer(given.offerId(), "preview", null, null, null);
    var changes = new ChangesApi(client).readChangesCall("preview", null, List.of("offers"), null, null, null, null).execute();

    System.out.println(JSON.getGson().toJson(Map.of(
        "pages", List.of(events, sessions, first, second, orders, offers),
        "records", List.of(event, ticket, order, offer),
        "values", List.of(event.getVenueAddress().getCity(),
            offer.getTicketOffer().getInventory().get(0).getAvailableStock()),
        "refused", refused(ticketsApi, given).getErrors().get(0).getLoc(),
        "changes", changes.body().string().lines()
            .map(line -> JsonParser.parseString(line).getAsJsonObject().get("change")).toList())));
  }

  static TicketPage listTickets(TicketsApi tickets, Given given, String from, int page, String snapshot)
      throws ApiException {
    return tickets.listTickets(page, given.perPage(), snapshot, from, given.until(), given.eventIds(), null, null, null,
        null, null, null, null);
  }

  static Problem refused(TicketsApi tickets, Given given) throws Exception {
    try {
      throw new Exception("the query is valid: " + listTickets(tickets, given, "never", 1, null));
    } catch (ApiException error) {
      return Problem.fromJson(error.getResponseBody());
    }
  }
}
