package sdk

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	hiero "github.com/hiero-ledger/hiero-sdk-go/v2/sdk"
)

// address is where the SDK looks for fee estimates of a local network, whatever it is told.
const address = "127.0.0.1:8084"

// startTime bounds the start of the gateway: its database is made and filled meanwhile.
const startTime = 2 * time.Minute

// TestMain starts the gateway of the variable HELIOGRAPH with the demo network, and ends it.
func TestMain(m *testing.M) {
	code, err := withGateway(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withGateway(run func() int) (code int, err error) {
	program := os.Getenv("HELIOGRAPH")
	if program == "" {
		program = filepath.Join("..", "..", "bin", "heliograph")
	}
	dir, err := os.MkdirTemp("", "heliograph-sdk-")
	if err != nil {
		return 1, fmt.Errorf("making a folder for the database: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// Where root runs the test, PostgreSQL runs as somebody else, who has to get to the data.
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, fmt.Errorf("opening the folder for the database: %w", err)
	}
	gateway := exec.Command(program, "serve", "--listen", address, "--admin-listen=", "--data-dir", filepath.Join(dir, "data"))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return 1, fmt.Errorf("making a log: %w", err)
	}
	defer func() { _ = log.Close() }()
	gateway.Stdout, gateway.Stderr = log, log
	if err := gateway.Start(); err != nil {
		return 1, fmt.Errorf("starting the gateway (make test-clients builds it): %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- gateway.Wait() }()
	defer func() {
		_ = gateway.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = gateway.Process.Kill()
		}
	}()
	if err := wait(ended); err != nil {
		text, _ := os.ReadFile(log.Name())
		return 1, fmt.Errorf("%w\n%s", err, text)
	}
	return run(), nil
}

// wait returns when the gateway is ready.
func wait(ended <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health/readiness", http.NoBody)
		if err != nil {
			return fmt.Errorf("asking whether the gateway is ready: %w", err)
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the gateway ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the gateway is not ready after %s", startTime)
		case <-time.After(100 * time.Millisecond):
		}
	}
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
