import type { ConformanceTest } from '../fixtures.ts'
import { describeCreate } from './describe-create.ts'
import { describeDelete } from './describe-delete.ts'
import { describePatch } from './describe-patch.ts'
import { describeRead } from './describe-read.ts'
import { describeUpdate } from './describe-update.ts'

/** Answers to single requests: status codes, bodies, causes, resource versions. */
export function describeRequests(it: ConformanceTest): void {
  describeCreate(it)
  describeRead(it)
  describeUpdate(it)
  describePatch(it)
  describeDelete(it)
}
