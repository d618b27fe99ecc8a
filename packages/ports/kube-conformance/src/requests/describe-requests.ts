import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { describeAdmissionPolicies } from './describe-admission-policies.ts'
import { describeAccess } from './describe-access.ts'
import { describeApply } from './describe-apply.ts'
import { describeCreate } from './describe-create.ts'
import { describeChangedDefinitions } from './describe-changed-definitions.ts'
import { describeCustomResources } from './describe-custom-resources.ts'
import { describeDelete } from './describe-delete.ts'
import { describeOwnership } from './describe-ownership.ts'
import { describePatch } from './describe-patch.ts'
import { describePods } from './describe-pods.ts'
import { describePolicies } from './describe-policies.ts'
import { describeRead } from './describe-read.ts'
import { describeServer } from './describe-server.ts'
import { describeShapes } from './describe-shapes.ts'
import { describeUpdate } from './describe-update.ts'
import { describeWorkloads } from './describe-workloads.ts'

/** Answers to single requests: status codes, bodies, causes, resource versions. */
export function describeRequests(it: ConformanceTest): void {
  describeCreate(it)
  describeRead(it)
  describeUpdate(it)
  describePatch(it)
  describeOwnership(it)
  describeApply(it)
  describeDelete(it)
  describeWorkloads(it)
  describePods(it)
  describePolicies(it)
  describeCustomResources(it)
  describeChangedDefinitions(it)
  describeShapes(it)
  describeServer(it)
  describeAccess(it)
  describeAdmissionPolicies(it)
}
