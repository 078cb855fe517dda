package sdk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	hiero "github.com/hiero-ledger/hiero-sdk-go/v2/sdk"
)

// The addresses at which the SDK expects fee estimates and contract calls of a local network. They cannot be
// configured.
const (
	address     = "127.0.0.1:8084"
	callAddress = "127.0.0.1:8545"
)

// TestMain forwards the SDK's addresses to the gateway at HELIOGRAPH_URL, which serves the demo network.
func TestMain(m *testing.M) {
	code, err := atAddresses(m.Run, address, callAddress)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func atAddresses(run func() int, addresses ...string) (code int, err error) {
	gateway, err := url.Parse(os.Getenv("HELIOGRAPH_URL"))
	if err != nil || gateway.Host == "" {
		return 1,
			errors.New("HELIOGRAPH_URL must be the address of a gateway with the demo network; `make test-clients` " +
				"sets it")
	}
	proxy := &http.Server{Handler: httputil.NewSingleHostReverseProxy(gateway), ReadHeaderTimeout: time.Minute}
	defer func() { _ = proxy.Close() }()
	for _, a := range addresses {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", a)
		if err != nil {
			return 1, fmt.Errorf("listening on the address of the SDK: %w", err)
		}
		go func() { _ = proxy.Serve(l) }() // returns when the listener is closed
	}
	return run(), nil
}

// client returns a client for a local network with the gateway as mirror node. The consensus node is never contacted.
func client(t *testing.T) *hiero.Client {
	t.Helper()
	c, err := hiero.ClientForNetworkV2(map[string]hiero.AccountID{"127.0.0.1:50211": node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	c.CancelScheduledNetworkUpdate()
	c.SetMirrorNetwork([]string{address})
	key, err := hiero.PrivateKeyGenerateEd25519()
	if err != nil {
		t.Fatal(err)
	}
	c.SetOperator(alice, key)
	return c
}
