package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

type given struct {
	URL      string   `json:"url"`
	Key      string   `json:"key"`
	EventIDs []string `json:"eventIds"`
	From     string   `json:"from"`
	Until    string   `json:"until"`
}

func main() {
	var given given
	check(json.Unmarshal([]byte(os.Args[1]), &given))
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+given.Key)
		return nil
	}
	client, err := NewClientWithResponses(given.URL, WithRequestEditorFn(authorize))
	check(err)
	ctx := context.Background()

	perPage := 3
	filters := ListTicketsParams{
		EventIds:     &given.EventIDs,
		UpdatedAtGte: &given.From,
		UpdatedAtLte: &given.Until,
		PerPage:      &perPage,
	}
	first, err := client.ListTicketsWithResponse(ctx, &filters)
	check(err)
	next, err := url.Parse(*first.JSON200.NextPage)
	check(err)
	snapshot, page := next.Query().Get("snapshot"), 2
	filters.Snapshot, filters.Page = &snapshot, &page
	second, err := client.ListTicketsWithResponse(ctx, &filters)
	check(err)
	var tickets [][]any
	for _, ticket := range append(first.JSON200.Items, second.JSON200.Items...) {
		tickets = append(tickets, []any{ticket.TicketId, ticket.FinalPaidPrice})
	}

	one := 1
	var offers [][]any
	for _, offerType := range []ListOffersParamsType{
		ListOffersParamsTypeTICKET, ListOffersParamsTypePRODUCT, ListOffersParamsTypeBUNDLE,
	} {
		found, err := client.ListOffersWithResponse(ctx, &ListOffersParams{
			Type: &offerType, PerPage: &one, ServiceAPIVersion: "preview",
		})
		check(err)
		for _, item := range found.JSON200.Items {
			offers = append(offers, contentOf(item))
		}
	}

	zero := 0
	refused, err := client.ListTicketsWithResponse(ctx, &ListTicketsParams{Page: &zero})
	check(err)
	problem, err := refused.JSON400.AsQueryProblem()
	check(err)
	var locs []string
	for _, violation := range problem.Errors {
		locs = append(locs, violation.Loc)
	}

	collections := []ReadChangesParamsCollections{ReadChangesParamsCollectionsOffers}
	stream, err := client.ReadChangesWithResponse(ctx, &ReadChangesParams{
		Collections: &collections, ServiceAPIVersion: "preview",
	})
	check(err)
	var changes []string
	for line := range strings.Lines(string(stream.Body)) {
		var change struct{ Change string }
		check(json.Unmarshal([]byte(line), &change))
		changes = append(changes, change.Change)
	}

	output, err := json.Marshal(map[string]any{
		"tickets": tickets, "offers": offers, "refused": locs, "changes": changes,
	})
	check(err)
	fmt.Println(string(output))
}

func contentOf(item Offer) (content []any) {
	value, err := item.ValueByDiscriminator()
	check(err)
	switch offer := value.(type) {
	case TicketOffer:
		for _, entry := range offer.Inventory {
			content = append(content, entry.AvailableStock)
		}
	case ProductOffer:
		for _, entry := range offer.Inventory {
			content = append(content, entry.WeightInGrams)
		}
	case BundleOffer:
		for _, entry := range offer.Contains {
			content = append(content, entry.OfferId)
		}
	}
	return content
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
