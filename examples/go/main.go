// Command go prints the messages of a topic, page by page, with functions and types that genqlient generates from
// queries.graphql.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/Khan/genqlient/graphql"
)

//go:generate go tool genqlient

func main() {
	topic := "0.0.4001"
	if len(os.Args) > 1 {
		topic = os.Args[1]
	}
	client := graphql.NewClient(cmp.Or(os.Getenv("HELIOGRAPH_URL"), "http://localhost:8080")+"/graphql",
		&http.Client{Timeout: 10 * time.Second})
	if err := show(context.Background(), client, topic, 3); err != nil {
		log.Fatal(err)
	}
}

// show prints the first pages of a topic.
func show(ctx context.Context, client graphql.Client, topic string, pages int) error {
	var after *string
	for range pages {
		page, err := Conversation(ctx, client, topic, after)
		switch {
		case err != nil:
			return fmt.Errorf("reading messages: %w", err)
		case page.Topic == nil:
			return fmt.Errorf("topic %s not found", topic)
		}
		for _, m := range page.Topic.Messages.Nodes {
			name := "somebody"
			if m.Payer != nil {
				name = m.Payer.Memo
			}
			fmt.Printf("%s: #%s %s: %s\n", page.Topic.Memo, m.SequenceNumber, name, m.Text)
		}
		if after = page.Topic.Messages.PageInfo.EndCursor; !page.Topic.Messages.PageInfo.HasNextPage {
			break
		}
	}
	return nil
}
