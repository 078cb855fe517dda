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

// Where the SDK looks for fee estimates and for calls of contracts of a local network, whatever it is told.
const (
	address     = "127.0.0.1:8084"
	callAddress = "127.0.0.1:8545"
)

// TestMain leads what comes to the SDK's addresses to the gateway of the variable HELIOGRAPH_URL, which serves the demo network.
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
		return 1, errors.New("HELIOGRAPH_URL must be the address of a gateway with the demo network; `make test-clients` sets it")
	}
	proxy := &http.Server{Handler: httputil.NewSingleHostReverseProxy(gateway), ReadHeaderTimeout: time.Minute}
	defer func() { _ = proxy.Close() }()
	for _, a := range addresses {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", a)
		if err != nil {
			return 1, fmt.Errorf("listening where the SDK looks: %w", err)
		}
		go func() { _ = proxy.Serve(l) }() // ends when it is closed
	}
	return run(), nil
}

// client is a client of the local network whose only mirror is the gateway. The address of its node is never asked.
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
