import { type RecordedAction, recordedActionSchema, RECORDED_ACTIONS_MAX } from '@tranche/api-schema'
import { type KubeObject, RECORDED_ACTIONS_ANNOTATION, parseTime, clipText, isSameJson } from '@tranche/kube-types'
import { listedItems, listText, parsedList, sizeBytes } from './parsed-list.ts'
import type { Action, ActionFacts } from './action.ts'

/** Maximum bytes of UTF-8 in the annotation. */
export const RECORDED_ACTIONS_MAX_BYTES = 16_384

/** Maximum characters of a recorded name or address. */
const LONGEST_NAME = 256

/**
 * Reads the recorded actions of an object.
 *
 * @returns at most sixteen, newest last, without invalid items
 */
export function recordedActionsOf(object: KubeObject | undefined): readonly RecordedAction[] {
  const annotations = object?.metadata.annotations
  const text = annotations?.[RECORDED_ACTIONS_ANNOTATION]
  if (annotations === undefined || text === undefined) return []
  const known = recordsOf.get(annotations)
  if (known?.text === text) return known.records
  const records = parsedList(text, recordedActionSchema, RECORDED_ACTIONS_MAX)
  recordsOf.set(annotations, { text, records })
  return records
}

/**
 * Adds an action to the record and returns it as text: at most sixteen actions and 16 KiB, the oldest dropped first. Unknown
 * members that another version wrote stay (G7). An item larger than half of the limit is no action and displaces none.
 */
export function withRecorded(object: KubeObject, record: RecordedAction): string {
  const before = listedItems(object.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION])
  const records = [...before.filter((one) => one.id !== record.id && !isTooLarge(one)), record]
  return listText(records, { most: RECORDED_ACTIONS_MAX, mostBytes: RECORDED_ACTIONS_MAX_BYTES })
}

/**
 * Whether the record may have dropped an action from this time or later.
 *
 * @param sinceMs epoch milliseconds
 */
export function mayHaveForgotten(object: KubeObject | undefined, sinceMs: number): boolean {
  const records = listedItems(object?.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION])
  const oldestMs = records.map(({ at }) => parseTime(at)).find((ms) => ms !== null)
  if (oldestMs !== undefined && oldestMs < sinceMs) return false
  // No action takes half of the room: if one was dropped for its size, more than half is in use.
  return records.length >= RECORDED_ACTIONS_MAX || sizeBytes(JSON.stringify(records)) > RECORDED_ACTIONS_MAX_BYTES / 2
}

function isTooLarge(item: object): boolean {
  return sizeBytes(JSON.stringify(item)) > RECORDED_ACTIONS_MAX_BYTES / 2
}

/** Builds the record of an action: names cut to 256 characters, time from `nowMs`. */
export function recordOf({ id, type, body, by, via, from, trace }: Action, { nowMs }: Pick<ActionFacts, 'nowMs'>): RecordedAction {
  return {
    id,
    type,
    by: clipText(by, LONGEST_NAME),
    at: new Date(nowMs).toISOString(),
    via,
    ...(from !== undefined && { from: clipText(from, LONGEST_NAME) }),
    ...body,
    ...(trace !== undefined && { trace }),
  }
}

/** Whether an action has the same type and user-given body as a recorded one, from any client and address. */
export function isSameAction(record: RecordedAction, action: Action): boolean {
  if (record.type !== action.type) return false
  const { seen = [], body } = action
  return members.every((member) => seen.some((one) => one === member) || isSameJson(record[member], body[member]))
}

const members = ['reason', 'expectedStep', 'revision', 'step', 'full', 'toRevision'] as const

/**
 * Parsed records by the annotations of an object: every report reads them, and only a change of the object gives it other annotations. They
 * go with the object. Users may write any text into the annotation, and change it as often as they like.
 */
const recordsOf = new WeakMap<object, { readonly text: string; readonly records: readonly RecordedAction[] }>()
