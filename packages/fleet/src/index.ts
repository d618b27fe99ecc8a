export { isDesiredNode, type NodeForPlacement } from './eligibility.ts'
export { FleetIndex } from './fleet-index.ts'
export { availableFromMs, type FleetPod, isAvailable, type PodTrouble, type Sight, toFleetPod } from './fleet-pod.ts'
export { type FleetNode, type FleetView, nodeInView, type NodeView, toFleetNode } from './fleet-view.ts'
