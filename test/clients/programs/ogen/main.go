package main

import (
	"context"
	"fmt"
	"io"

	"example.org/foyer-client/api"
)

// ApiKey authorizes requests.
func (given input) ApiKey(context.Context, api.OperationName) (api.ApiKey, error) {
	return api.ApiKey{Token: given.Key}, nil
}

func main() {
	given := readInput()
	client, err := api.NewClient(given.URL, given)
	check(err)
	ctx := context.Background()

	filters := api.ListTicketsParams{
		EventIds:     given.EventIDs,
		UpdatedAtGte: api.NewOptString(given.From),
		UpdatedAtLte: api.NewOptString(given.Until),
		PerPage:      api.NewOptInt(given.PerPage),
	}
	first := read[*api.TicketPageHeaders](client.ListTickets(ctx, filters)).Response
	filters.Page = api.NewOptInt(2)
	filters.Snapshot = api.NewOptString(snapshotOf(first.NextPage.Value.String()))
	second := read[*api.TicketPageHeaders](client.ListTickets(ctx, filters)).Response
	hundred := api.NewOptInt(100)
	sessionsOf := api.ListEventSessionsParams{EventID: given.EventID}
	events := read[*api.EventPageHeaders](client.ListEvents(ctx, api.ListEventsParams{PerPage: hundred})).Response
	sessions := read[*api.EventSessionPageHeaders](client.ListEventSessions(ctx, sessionsOf)).Response
	orders := read[*api.OrderPageHeaders](client.ListOrders(ctx, api.ListOrdersParams{PerPage: hundred})).Response
	ofPreview := api.ListOffersParams{ServiceAPIVersion: "preview", PerPage: hundred}
	offers := read[*api.OfferPageHeaders](client.ListOffers(ctx, ofPreview)).Response
	event := read[*api.EventHeaders](client.GetEvent(ctx, api.GetEventParams{EventID: given.EventID})).Response
	ticket := read[*api.TicketHeaders](client.GetTicket(ctx, api.GetTicketParams{TicketID: given.TicketID})).Response
	order := read[*api.OrderHeaders](client.GetOrder(ctx, api.GetOrderParams{OrderID: given.OrderID})).Response
	oneOffer := api.GetOfferParams{OfferId: given.OfferID, ServiceAPIVersion: "preview"}
	offer := read[*api.OfferHeaders](client.GetOffer(ctx, oneOffer)).Response
	filters.UpdatedAtGte = api.NewOptString("never")
	refused := read[*api.InvalidRequestHeaders](client.ListTickets(ctx, filters)).Response
	collections := []api.ReadChangesCollectionsItem{"offers"}
	ofOffers := api.ReadChangesParams{ServiceAPIVersion: "preview", Collections: collections}
	changes, err := io.ReadAll(read[*api.ReadChangesOKHeaders](client.ReadChanges(ctx, ofOffers)).Response)
	check(err)

	write(map[string]any{
		"pages":   []any{&events, &sessions, &first, &second, &orders, &offers},
		"records": []any{&event, &ticket, &order, &offer},
		"values":  []any{event.VenueAddress.Value.City, offer.TicketOffer.Inventory[0].AvailableStock},
		"refused": refused.Errors[0].Loc,
		"changes": kindsOf(changes),
	})
}

// read returns the response of the expected status.
func read[Found, Response any](response Response, err error) Found {
	check(err)
	found, ok := any(response).(Found)
	if !ok {
		check(fmt.Errorf("unexpected %T", response))
	}
	return found
}
