package rest_test

import (
	"context"
	"fmt"

	"heliograph/rest"
	v1 "heliograph/rest/v1"
)

// Explain returns the operation of the graph that a REST path stands for.
func ExampleAPI_Explain() {
	api, err := v1.NewOffline(&rest.Config{LimitDefault: 25, LimitMax: 100, MaxRepeats: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	explained, err := api.Explain(context.Background(), "/api/v1/topics/0.0.4001/messages?limit=2&order=desc", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(explained.OperationName)
	fmt.Println(explained.Variables)

	_, err = api.Explain(context.Background(), "/api/v1/topics/0.0.4001/messages?limit=-1", nil)
	fmt.Println(err)
	// Output:
	// TopicMessages
	// map[limit:2 order:DESC topic:0.0.4001]
	// Invalid parameter: limit
}
