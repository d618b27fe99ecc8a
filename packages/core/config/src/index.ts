export type { ConfigKind } from './config-fields.ts'
export { type ConfigReference, configReferences } from './config-references.ts'
export { CONFIG_FIX, configNames, configText } from './config-text.ts'
export { hasContentHash } from './has-content-hash.ts'
export { type ConfigObject, judgeConfig, type UnversionedConfig } from './judge-config.ts'
export { type ConfigField, configFields } from './config-fields.ts'
export {
  type ConfigContent,
  type ConfigCopy,
  type ConfigSource,
  contentOf,
  COPY_LABEL,
  copyName,
  type CopyOwner,
  freeName,
  isSameContent,
  SALT_ANNOTATION,
  SOURCE_ANNOTATION,
  toCopy,
} from './pin/config-copy.ts'
export { type ConfigHold, type ConfigHoldReason, configHoldReasons } from './pin/config-hold.ts'
export { liveConfigIn } from './pin/live-config.ts'
export { type PinProspect, type PinProspectOf, pinProspects } from './pin/pin-prospects.ts'
export { type PinOperation, pinPatch } from './pin/pin-patch.ts'
export { changedPins } from './pin/changed-pins.ts'
export { isPinnedObject, OFFERED_CONFIG_ANNOTATION, PINNED_CONFIG_ANNOTATION, pinnedObjects, pinsOf } from './pin/pinned-objects.ts'
export { kindOfPin, parsePins, pinKey, type Pins, pinsText } from './pin/pins.ts'
export {
  type Collection,
  garbageOf,
  isPinned,
  namedCopies,
  type PinPlan,
  planPins,
  type PinsInPlace,
} from './pin/plan-pins.ts'
export type { ExistingCopy, PinView, SourceReading } from './pin/pin-view.ts'
export { copiesNamed, parseRecorded, RECORDED_COPIES_ANNOTATION, recordedText } from './pin/recorded-copies.ts'
export { fieldBeyondLimits, MOST_OBJECTS, PIN_LIMITS } from './pin/pin-limits.ts'
