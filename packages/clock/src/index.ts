export { sleep, type Clock, type Timer } from './clock.ts'
export { FakeClock } from './fake-clock.ts'
export { systemClock } from './system-clock.ts'
export { VirtualClock } from './virtual-clock.ts'
