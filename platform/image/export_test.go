package image

// Hold takes a slot of the processor until it is told to release it.
func Hold(p *Processor, entered chan<- struct{}, release <-chan struct{}) {
	p.slots <- struct{}{}
	close(entered)
	<-release
	<-p.slots
}
