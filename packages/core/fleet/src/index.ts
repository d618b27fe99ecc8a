export { isDesiredNode, isDesiredOnReturn, isSchedulableNode, type NodeForPlacement } from './eligibility.ts'
export { FleetIndex, type FleetOwner } from './fleet-index.ts'
export {
  availableFromMs,
  BY_STAMPS,
  type FleetPod,
  isAvailable,
  isCreatedSince,
  type PodTrouble,
  type ObservationTime,
  toFleetPod,
} from './fleet-pod.ts'
export {
  type FleetNode,
  type FleetView,
  type NodeBlock,
  nodeInView,
  type NodeView,
  toFleetNode,
  toFleetView,
} from './fleet-view.ts'
export { type BlockCount, keptPerBlock } from './kept-per-block.ts'
