package main

import (
	"context"
	"net/http"
)

func main() {
	given := readInput()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+given.Key)
		return nil
	}
	client, err := NewClientWithResponses(given.URL, WithRequestEditorFn(authorize))
	check(err)
	ctx := context.Background()

	filters := ListTicketsParams{
		EventIds: &given.EventIDs, UpdatedAtGte: &given.From, UpdatedAtLte: &given.Until, PerPage: &given.PerPage,
	}
	first := read(client.ListTicketsWithResponse(ctx, &filters)).JSON200
	snapshot, page, hundred, never := snapshotOf(*first.NextPage), 2, 100, "never"
	filters.Snapshot, filters.Page = &snapshot, &page
	second := read(client.ListTicketsWithResponse(ctx, &filters)).JSON200
	events := read(client.ListEventsWithResponse(ctx, &ListEventsParams{PerPage: &hundred})).JSON200
	sessions := read(client.ListEventSessionsWithResponse(ctx, given.EventID, nil)).JSON200
	orders := read(client.ListOrdersWithResponse(ctx, &ListOrdersParams{PerPage: &hundred})).JSON200
	ofPreview := ListOffersParams{ServiceAPIVersion: "preview", PerPage: &hundred}
	offers := read(client.ListOffersWithResponse(ctx, &ofPreview)).JSON200
	event := read(client.GetEventWithResponse(ctx, given.EventID, nil)).JSON200
	ticket := read(client.GetTicketWithResponse(ctx, given.TicketID, nil)).JSON200
	order := read(client.GetOrderWithResponse(ctx, given.OrderID, nil)).JSON200
	offer := read(client.GetOfferWithResponse(ctx, given.OfferID, &GetOfferParams{ServiceAPIVersion: "preview"})).JSON200
	ticketOffer := read(offer.AsTicketOffer())
	refused := read(client.ListTicketsWithResponse(ctx, &ListTicketsParams{UpdatedAtGte: &never})).JSON400
	collections := []ReadChangesParamsCollections{ReadChangesParamsCollectionsOffers}
	ofOffers := ReadChangesParams{ServiceAPIVersion: "preview", Collections: &collections}
	changes := read(client.ReadChangesWithResponse(ctx, &ofOffers))

	write(map[string]any{
		"pages":   []any{events, sessions, first, second, orders, offers},
		"records": []any{event, ticket, order, offer},
		"values":  []any{event.VenueAddress.City, ticketOffer.Inventory[0].AvailableStock},
		"refused": (*refused.Errors)[0].Loc,
		"changes": kindsOf(changes.Body),
	})
}

func read[T any](found T, err error) T {
	check(err)
	return found
}
