export { canonicalJson, type Counts, isSameJson } from './canonical-json.ts'
export { clipText } from './clip-text.ts'
export { isRawNumber, parseExactJson, rawNumber, withPlainNumbers } from './raw-json.ts'
export { cutDeepJson, JSON_LEVELS_MAX, nestsDeeperThan } from './json-levels.ts'
export {
  BATCH_RELEASE_FINALIZER,
  CORDON_ANNOTATION,
  daemonSetAnnotations,
  DRAIN_CONDITION,
  DRAIN_REASON,
  fieldManagers,
  ALLOW_DELETE_ANNOTATION,
  FAILURE_ANNOTATION,
  STEP_NODES_ANNOTATION,
  HELD_REVISIONS_ANNOTATION,
  HOOK_LABEL,
  hookAnnotations,
  kruiseAnnotations,
  LEAKED_LABEL,
  LEASE_NAME,
  LEASE_NAMESPACE,
  DOWNTIME_ANNOTATION,
  DOWNTIME_LABEL,
  NODE_LOCK_ANNOTATION,
  NODE_LOCK_NAMESPACE,
  RECORDED_ACTIONS_ANNOTATION,
  FORMER_OBSERVED_CHANGES_ANNOTATION,
  OBSERVED_CHANGES_ANNOTATION,
  POLICY_SECRET,
  POLICY_SECRET_LABEL,
  REFUSED_LABEL,
  REVISION_HASH_LABEL,
  ROLLOUT_BATCH_ID_LABEL,
  ROLLOUT_FINALIZER,
  ROLLOUT_HASH_ANNOTATION,
  ROLLOUT_ID_LABEL,
  rolloutAnnotations,
  ROLLOUTS_API_VERSION,
  PRE_PULL_LABEL,
  PRE_PULL_PROGRAM,
  PRE_PULL_SEEN,
  GROUP_LABEL,
  TOUCHED_ANNOTATION,
  WORKLOAD_TYPE_DAEMONSET,
  WORKLOAD_TYPE_LABEL,
} from './keys.ts'
export { scaleIntOrPercent } from './int-or-percent.ts'
export { canonicalQuantity, formatQuantity, parseQuantity, quantityForm, type QuantityForm } from './quantity.ts'
export {
  type LabelRequirements,
  type Labels,
  meetsRequirements,
  meetsRule,
  readRequirements,
  type ValueRule,
} from './label-requirements.ts'
export { parseLabelSelector } from './label-selector.ts'
export { isListedNamespace } from './listed-namespaces.ts'
export { MOST_LEASE_TRANSITIONS } from './lease-transitions.ts'
export { microTime } from './micro-time.ts'
export { controllerOf, keyOf, keyText, parseKey } from './object-key.ts'
export type {
  Condition,
  ContainerEnd,
  ContainerStatus,
  ControllerRevision,
  DaemonSet,
  IntOrString,
  KubeObject,
  LabelSelector,
  LabelSelectorRequirement,
  Lease,
  Node,
  NodeSelectorTerm,
  ObjectKey,
  ObjectMeta,
  OwnerReference,
  Pod,
  PodPlacement,
  PodTemplate,
  Taint,
  Toleration,
} from './objects.ts'
export { readJson, wellFormedJson } from './read-json.ts'
export { compareResourceVersions, newerResourceVersion } from './resource-version.ts'
export { goJson } from './go-json.ts'
export {
  controllerKeyOf,
  isHelperPod,
  isOwnedBy,
  isReleaseOf,
  isSelectedBy,
  ownerKeyOf,
  type OwnerOfObjects,
  revisionsOf,
  rolloutOf,
} from './ownership.ts'
export { sha256Hex } from './sha256.ts'
export { parseTime, timeText } from './time.ts'
export { valueIn } from './value-in.ts'
