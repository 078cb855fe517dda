//go:build soak

package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// follower receives the events of a subscription over server-sent events or a WebSocket, and checks that their numbers
// are consecutive. If the connection ends, it subscribes again after the last event.
type follower struct {
	address string
	socket  bool
	query   string         // with the variable $from
	number  *regexp.Regexp // matches the number of an event, and optionally the value of $from for the next ones
	from    string
	reached atomic.Int64 // number of the last event
	breaks  atomic.Int64
	fault   atomic.Pointer[error]
}

func (f *follower) follow(ctx context.Context) {
	for ctx.Err() == nil && f.fault.Load() == nil {
		var err error
		if f.socket {
			err = f.overSocket(ctx)
		} else {
			err = f.overEvents(ctx)
		}
		if ctx.Err() == nil && err != nil {
			f.breaks.Add(1)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (f *follower) request() []byte {
	text, _ := json.Marshal(map[string]any{"query": f.query, "variables": map[string]string{"from": f.from}})
	return text
}

func (f *follower) overSocket(ctx context.Context) error {
	conn, resp, err := websocket.Dial(ctx, "http://"+f.address+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return err
	}
	_ = resp.Body // belongs to the connection
	defer func() { _ = conn.CloseNow() }()
	for _, message := range []string{
		`{"type":"connection_init"}`,
		fmt.Sprintf(`{"id":"s","type":"subscribe","payload":%s}`, f.request()),
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
	}
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		f.event(string(message))
	}
}

func (f *follower) overEvents(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+f.address+"/graphql",
		strings.NewReader(string(f.request())))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		f.event(lines.Text())
	}
	return fmt.Errorf("the stream ended: %w", context.Canceled)
}

// event records an event. Other texts are ignored.
func (f *follower) event(text string) {
	found := f.number.FindStringSubmatch(text)
	if found == nil {
		return
	}
	if n, err := strconv.ParseInt(found[1], 10, 64); err != nil || n != f.reached.Load()+1 {
		err := fmt.Errorf("%s after event %d", text, f.reached.Load())
		f.fault.CompareAndSwap(nil, &err)
		return
	}
	f.from = found[len(found)-1]
	f.reached.Add(1)
}

// waitFor waits until all followers have received an event, and returns how often they subscribed again.
func waitFor(followers []*follower, number func(*follower) int64) (breaks int64, err error) {
	for i, f := range followers {
		want := number(f)
		for end := time.Now().Add(30 * time.Second); f.reached.Load() < want && f.fault.Load() == nil &&
			time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		if fault := f.fault.Load(); fault != nil {
			return breaks, *fault
		}
		if got := f.reached.Load(); got != want {
			return breaks, fmt.Errorf("follower %d has received event %d, want %d", i, got, want)
		}
		breaks += f.breaks.Load()
	}
	return breaks, nil
}
