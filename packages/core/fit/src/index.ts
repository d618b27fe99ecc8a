export { type Amounts, amountsOf, type Demand, type DemandingSpec, demandOf, type HostPort } from './demand.ts'
export { growthOf } from './growth.ts'
export { type DemandingPod, type NodeRoom, type Shortage, shortagesIn, type Taker, takerIn } from './room.ts'
export {
  type NodeWithPods,
  type PodToCome,
  type ScheduledSpec,
  shortageOn,
  specOf,
  toWaitingPod,
  type WaitingPod,
} from './shortage-on.ts'
export { shortageText } from './shortage-text.ts'
