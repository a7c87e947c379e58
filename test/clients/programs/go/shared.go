package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
)

type input struct {
	URL, Key, From, Until               string
	EventIDs                            []string
	PerPage                             int
	EventID, TicketID, OrderID, OfferID string
}

func readInput() (given input) {
	check(json.Unmarshal([]byte(os.Args[1]), &given))
	return given
}

func snapshotOf(nextPage string) string {
	link, err := url.Parse(nextPage)
	check(err)
	return link.Query().Get("snapshot")
}

// kindsOf returns the kinds of the changes in a stream.
func kindsOf(stream []byte) (kinds []string) {
	for line := range strings.Lines(string(stream)) {
		var change struct{ Change string }
		check(json.Unmarshal([]byte(line), &change))
		kinds = append(kinds, change.Change)
	}
	return kinds
}

func write(found map[string]any) {
	output, err := json.Marshal(found)
	check(err)
	fmt.Println(string(output))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
