package batch

// Waiting is how many wait for a batch.
func (b *Batcher[T]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// Serving reports whether a goroutine takes what waits.
func (b *Batcher[T]) Serving() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.serving
}
