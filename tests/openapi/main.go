// Command openapi sends a request with each generated client.
package main

import (
	"context"
	"log"
	"os"

	_ "github.com/oapi-codegen/runtime" // the generated packages import it, and go mod tidy runs before they exist
	_ "github.com/oapi-codegen/runtime/types"

	v1 "heliograph/tests/openapi/generated/v1"
	v2 "heliograph/tests/openapi/generated/v2"
)

func main() {
	ctx, url := context.Background(), os.Getenv("HELIOGRAPH_URL")
	ledger, err := v1.NewClientWithResponses(url + "/api/v1")
	if err != nil {
		log.Fatal(err)
	}
	accounts, err := ledger.GetAccountsWithResponse(ctx, &v1.GetAccountsParams{})
	if err != nil {
		log.Fatal(err)
	}
	if accounts.JSON200 == nil || len(accounts.JSON200.Accounts) == 0 {
		log.Fatalf("accounts: %s %s", accounts.Status(), accounts.Body)
	}
	pages, err := v2.NewClientWithResponses(url + "/api/v2")
	if err != nil {
		log.Fatal(err)
	}
	summary, err := pages.GetSummaryWithResponse(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if summary.JSON200 == nil || len(summary.JSON200.Components) == 0 {
		log.Fatalf("summary: %s %s", summary.Status(), summary.Body)
	}
	log.Printf("%d accounts; %s: %s", len(accounts.JSON200.Accounts), summary.JSON200.Page.Name,
		summary.JSON200.Status.Description)
}
