import { type RecordedAction, recordedActionSchema, RECORDED_ACTIONS_MAX } from '@tranche/api-schema'
import { type KubeObject, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { listedItems, listText, parsedList, sizeBytes } from './parsed-list.ts'
import type { Wish, WishFacts } from './wish.ts'

/** The most bytes of UTF-8 that the annotation takes. */
export const RECORDED_ACTIONS_MAX_BYTES = 16_384

/** Longest name or address that is recorded, in characters. */
const LONGEST_NAME = 256

/**
 * Reads the wishes that an object carries on its record.
 *
 * @returns newest last; what somebody has spoilt is left out
 */
export function recordedActionsOf(object: KubeObject | undefined): readonly RecordedAction[] {
  const text = object?.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION]
  if (text === undefined) return []
  const known = recordsOf.get(text)
  if (known !== undefined) return known
  const records = parsedList(text, recordedActionSchema)
  if (recordsOf.size >= MOST_TEXTS) recordsOf.clear()
  recordsOf.set(text, records)
  return records
}

/**
 * The record as text, one wish longer: at most sixteen wishes and 16 KiB, and the oldest go first. What another version has written of
 * the others, and we do not know, stays (G7); what takes more than half of the room is no wish, and pushes none out.
 */
export function withRecorded(object: KubeObject, record: RecordedAction): string {
  const before = listedItems(object.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION])
  const records = [...before.filter((one) => one.id !== record.id && !isTooLarge(one)), record]
  return listText(records, { most: RECORDED_ACTIONS_MAX, mostBytes: RECORDED_ACTIONS_MAX_BYTES })
}

/**
 * Whether a wish that was recorded at that time, or since, may have had to make room for others.
 *
 * @param sinceMs epoch milliseconds
 */
export function mayHaveForgotten(object: KubeObject | undefined, sinceMs: number): boolean {
  const records = listedItems(object?.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION])
  const oldestMs = records.map(({ at }) => (typeof at === 'string' ? Date.parse(at) : Number.NaN)).find((ms) => !Number.isNaN(ms))
  if (oldestMs !== undefined && oldestMs < sinceMs) return false
  // No wish takes half of the room: where one had to go because of its size, more than half is taken.
  return records.length >= RECORDED_ACTIONS_MAX || sizeBytes(JSON.stringify(records)) > RECORDED_ACTIONS_MAX_BYTES / 2
}

function isTooLarge(item: object): boolean {
  return sizeBytes(JSON.stringify(item)) > RECORDED_ACTIONS_MAX_BYTES / 2
}

/** What is put on the record of a wish. */
export function recordOf({ id, type, body, by, via, from, trace }: Wish, { nowMs }: Pick<WishFacts, 'nowMs'>): RecordedAction {
  return {
    id,
    type,
    by: cut(by),
    at: new Date(nowMs).toISOString(),
    via,
    ...(from !== undefined && { from: cut(from) }),
    ...body,
    ...(trace !== undefined && { trace }),
  }
}

/** Whether a wish asks for the same as one on the record: type and body as they were said, whoever repeats it from wherever. */
export function isSameWish(record: RecordedAction, wish: Wish): boolean {
  if (record.type !== wish.type) return false
  const { seen = [], body } = wish
  return members.every((member) => seen.some((one) => one === member) || record[member] === body[member])
}

const members = ['reason', 'expectedStep', 'revision', 'step', 'full', 'toRevision'] as const

/** An annotation is asked for with every report, and changes with every wish alone. */
const recordsOf = new Map<string, readonly RecordedAction[]>()
const MOST_TEXTS = 1_000

function cut(text: string): string {
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME)}…`
}
