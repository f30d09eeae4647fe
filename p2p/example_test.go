package p2p_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/simnet"
)

// Two members of a genesis, here on a simulated network; p2p.New gives the same interface over real ones.
func ExampleNetwork() {
	var ids []p2p.PeerID
	for i := range 2 {
		id, err := p2p.PeerIDOf(keyOf(i).Public().(ed25519.PublicKey))
		if err != nil {
			log.Fatal(err)
		}
		ids = append(ids, id)
	}
	sim, err := simnet.New(1, ids, simnet.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	alice, err := sim.Start(ids[0])
	if err != nil {
		log.Fatal(err)
	}
	bob, err := sim.Start(ids[1])
	if err != nil {
		log.Fatal(err)
	}

	// Bob judges and handles what he hears.
	heard := make(chan string)
	_, err = bob.Join("news", p2p.TopicOptions{
		MaxSize: 100,
		Validate: func(m *p2p.Message) p2p.Verdict {
			if len(m.Data) == 0 {
				return p2p.Reject
			}
			return p2p.Accept
		},
		Handle: func(m *p2p.Message) { heard <- string(m.Data) },
	})
	if err != nil {
		log.Fatal(err)
	}
	// And answers questions.
	_, err = p2p.ServeRequests(bob, "greet", p2p.RequestLimits{MaxRequest: 100},
		func(_ context.Context, from p2p.PeerID, name []byte) ([]byte, error) {
			return fmt.Appendf(nil, "hello %s", name), nil
		})
	if err != nil {
		log.Fatal(err)
	}

	news, err := alice.Join("news", p2p.TopicOptions{MaxSize: 100, Handle: func(*p2p.Message) {}})
	if err != nil {
		log.Fatal(err)
	}
	for len(alice.Connected()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := news.Publish(context.Background(), []byte("slot 1 is over")); err != nil {
		log.Fatal(err)
	}
	fmt.Println("bob heard:", <-heard)
	answer, err := p2p.Request(context.Background(), alice, bob.Self(), "greet", []byte("alice"), 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("bob says: %s\n", answer)
	// Output:
	// bob heard: slot 1 is over
	// bob says: hello alice
}
