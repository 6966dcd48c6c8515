package tickets

// Base45Decode is for tests of what a door device does.
var Base45Decode = base45Decode
