import { doctorReportSchema } from '@tranche/api-schema'
import type { RunDoctor } from '../doctor/create-doctor.ts'
import { callerOf } from '../http/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, tags } from './route-parts.ts'

/** Dependencies of the doctor route. */
export interface DoctorRouteParts {
  readonly runDoctor: RunDoctor
}

/** Adds the route that checks the prerequisites of the cluster. */
export function addDoctorRoute(app: ApiServer, { runDoctor }: DoctorRouteParts): void {
  app.get(
    '/api/v1/doctor',
    {
      config: { access: { kind: 'authenticated', why: 'each read of the cluster needs the right of the caller' } },
      schema: {
        tags: tags.checks,
        operationId: 'getDoctor',
        summary: 'Check the prerequisites of the cluster, as `tranche doctor` does',
        description:
          'Each read of the cluster needs the right of the caller, as for kubectl. A check without it is `unknown`, and names the right. ' +
          'Runs one check at a time; a few requests wait, at most one per user.',
        response: answers(doctorReportSchema),
      },
    },
    (request) => runDoctor(callerOf(request), request.ending),
  )
}
