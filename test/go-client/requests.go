package main

import (
	"net/http"
	"strings"
	"sync"
)

// A requestLog keeps the method, path and query of every request.
type requestLog struct {
	mutex sync.Mutex
	lines []string
}

func (log *requestLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		log.mutex.Lock()
		log.lines = append(log.lines, request.Method+" "+request.URL.RequestURI())
		log.mutex.Unlock()
		return next.RoundTrip(request)
	})
}

// count says how many requests contain all of the words.
func (log *requestLog) count(words ...string) int {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	found := 0
	for _, line := range log.lines {
		if containsAll(line, words) {
			found++
		}
	}
	return found
}

func containsAll(line string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}

type roundTrip func(*http.Request) (*http.Response, error)

func (trip roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return trip(request) }
