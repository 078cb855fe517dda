//go:build soak

package soak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// subscriber receives the messages of one topic over server-sent events and checks that each arrives once and in
// order. It implements HTTP itself, to save CPU time: thousands of subscribers run on the machine that they measure.
type subscriber struct {
	address  string
	from     net.IP // local address
	topic    int
	received atomic.Int64          // last sequence number
	last     string                // consensus time of the last message
	breaks   atomic.Int64          // unexpected ends of the stream
	reason   atomic.Pointer[error] // of the last one
	fault    error                 // reports a missing or repeated message
	delays   []time.Duration
}

// listen receives messages until the context ends. If the stream ends earlier, it subscribes again after the last
// message. ready is called when the gateway has accepted the subscription.
func (s *subscriber) listen(ctx context.Context, ready func()) {
	for ctx.Err() == nil && s.fault == nil {
		err := s.stream(ctx, ready)
		ready = func() {}
		if ctx.Err() == nil && s.fault == nil {
			s.breaks.Add(1)
			s.reason.Store(&err)
			time.Sleep(200 * time.Millisecond)
		}
	}
}

var (
	sequenceMark  = []byte(`"sequenceNumber":"`)
	consensusMark = []byte(`"consensusTimestamp":"`)
)

func (s *subscriber) stream(ctx context.Context, ready func()) error {
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: s.from}}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	body := fmt.Sprintf(`{"query":"subscription($from: Timestamp) { topicMessages(topic: \"0.0.%d\", from: $from) `+
		`{ sequenceNumber consensusTimestamp } }","variables":{"from":%q}}`, s.topic, s.last)
	if s.last == "" {
		body = strings.Replace(body, `"from":""`, `"from":"0.0"`, 1)
	}
	_, err = fmt.Fprintf(conn,
		"POST /graphql HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\n\r\n%s", s.address, len(body), body)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(conn, 1024)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, "HTTP/1.1") && !strings.Contains(line, " 200 ") {
			return errors.New(line)
		}
		if line == "\r\n" {
			break
		}
	}
	events := bufio.NewReaderSize(httputil.NewChunkedReader(r), 1024)
	for {
		line, err := events.ReadSlice('\n')
		if err != nil {
			return err
		}
		ready()
		ready = func() {}
		if !bytes.HasPrefix(line, []byte("data: {")) {
			continue
		}
		number, at := valueAfter(line, sequenceMark), valueAfter(line, consensusMark)
		if number == "" {
			return fmt.Errorf("the stream ended with %s", line)
		}
		if err := s.receive(number, at); err != nil {
			s.fault = err
			return err
		}
	}
}

func valueAfter(line, mark []byte) string {
	_, rest, found := bytes.Cut(line, mark)
	value, _, ended := bytes.Cut(rest, []byte{'"'})
	if !found || !ended {
		return ""
	}
	return string(value)
}

// receive records a message and its delay since the writer started the transaction.
func (s *subscriber) receive(number, at string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err
	}
	if n != s.received.Load()+1 {
		return fmt.Errorf("topic 0.0.%d: message %d after message %d", s.topic, n, s.received.Load())
	}
	nanos, err := strconv.ParseInt(strings.Replace(at, ".", "", 1), 10, 64)
	if err != nil {
		return err
	}
	s.last = at
	s.delays = append(s.delays, time.Since(time.Unix(0, nanos)))
	s.received.Store(n) // stored last: readers of the delays wait for it
	return nil
}
