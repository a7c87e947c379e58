package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	foyer "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	given := readInput()
	configuration := foyer.NewConfiguration()
	configuration.Servers = foyer.ServerConfigurations{{URL: given.URL}}
	client := foyer.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), foyer.ContextAccessToken, given.Key)

	filtered := client.TicketsAPI.ListTickets(ctx).EventIds(given.EventIDs).UpdatedAtGte(given.From).
		UpdatedAtLte(given.Until).PerPage(int32(given.PerPage))
	first := read(filtered.Execute())
	second := read(filtered.Page(2).Snapshot(snapshotOf(first.GetNextPage())).Execute())
	events := read(client.EventsAPI.ListEvents(ctx).PerPage(100).Execute())
	sessions := read(client.EventsAPI.ListEventSessions(ctx, given.EventID).Execute())
	orders := read(client.OrdersAPI.ListOrders(ctx).PerPage(100).Execute())
	offers := read(client.CatalogAPI.ListOffers(ctx).ServiceAPIVersion("preview").PerPage(100).Execute())
	event := read(client.EventsAPI.GetEvent(ctx, given.EventID).Execute())
	ticket := read(client.TicketsAPI.GetTicket(ctx, given.TicketID).Execute())
	order := read(client.OrdersAPI.GetOrder(ctx, given.OrderID).Execute())
	offer := read(client.CatalogAPI.GetOffer(ctx, given.OfferID).ServiceAPIVersion("preview").Execute())
	_, _, err := filtered.UpdatedAtGte("never").Execute()
	var refused *foyer.GenericOpenAPIError
	if !errors.As(err, &refused) {
		check(errors.New("the query is valid"))
	}
	// The generated function expects a single line, and leaves the body to the caller.
	ofOffers := client.ChangesAPI.ReadChanges(ctx).ServiceAPIVersion("preview").Collections([]string{"offers"})
	_, stream, _ := ofOffers.Execute()
	changes, err := io.ReadAll(stream.Body)
	check(err)

	write(map[string]any{
		"pages":   []any{events, sessions, first, second, orders, offers},
		"records": []any{event, ticket, order, offer},
		"values":  []any{event.VenueAddress.Get().City, offer.TicketOffer.Inventory[0].AvailableStock},
		"refused": refused.Model().(foyer.Problem).Errors[0].Loc,
		"changes": kindsOf(changes),
	})
}

func read[T any](found T, _ *http.Response, err error) T {
	check(err)
	return found
}
