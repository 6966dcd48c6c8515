package image

// Hold takes a slot of the processor until it is told to release it.
func Hold(p *Processor, held chan<- struct{}, release <-chan struct{}) {
	p.slots <- struct{}{}
	close(held)
	<-release
	<-p.slots
}
