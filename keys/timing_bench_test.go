package keys

import (
	"bytes"
	"crypto/rand"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// BenchmarkNonceTiming signs in random order with nonces whose first bytes are zero and
// with others, and reports Welch's t of the times. Above about 5, signature times reveal
// something about nonces and, with enough signatures, the key. It is a row of make bench;
// alone it runs with
//
//	go test -run '^$' -bench NonceTiming -benchtime 1000000x ./keys
func BenchmarkNonceTiming(b *testing.B) {
	const zeros = 4
	key, hash := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 32)
	drawn := make([]byte, b.N)
	_, _ = rand.Read(drawn)
	var took [2][]float64
	nonce := make(secret, 32)
	for _, class := range drawn {
		class &= 1
		_, _ = rand.Read(nonce)
		nonce[zeros] |= 1 // never zero
		if class == 1 {
			clear(nonce[:zeros])
		} else {
			nonce[0] &= 0x7f // below the order
		}
		var k secp256k1.ModNScalar
		k.SetByteSlice(nonce)
		began := time.Now()
		if signWith(key, hash, &k) == nil {
			b.Fatal("not signed")
		}
		took[class] = append(took[class], float64(time.Since(began)))
	}
	b.ReportMetric(math.Abs(welch(took)), "|t|")
	b.ReportMetric(mean(took[0])-mean(took[1]), "ns-less")
}

// welch returns Welch's t of two samples, without the slowest twentieth of both together,
// which were interrupted.
func welch(samples [2][]float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(samples[0], samples[1])))
	limit := all[len(all)*19/20]
	var means, errors [2]float64
	for i, s := range samples {
		s = slices.DeleteFunc(slices.Clone(s), func(v float64) bool { return v > limit })
		means[i] = mean(s)
		for _, v := range s {
			errors[i] += (v - means[i]) * (v - means[i])
		}
		errors[i] /= float64(len(s)-1) * float64(len(s))
	}
	return (means[0] - means[1]) / math.Sqrt(errors[0]+errors[1])
}

func mean(samples []float64) (sum float64) {
	for _, v := range samples {
		sum += v
	}
	return sum / float64(len(samples))
}
