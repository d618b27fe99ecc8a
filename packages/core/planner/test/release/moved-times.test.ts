import { movedTimes } from '@tranche/verdict'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { aView, NOW_MS, onceSaid } from '../../../../../test/fakes/build-view.ts'

const at = (seconds: number): string => new Date(NOW_MS + seconds * 1000).toISOString()

it.each([{ step: -240 }, { step: 240 }])('BatchRelease’s status moves with a clock that was set by $step s (F14)', ({ step }) => {
  const failure = {
    reason: 'ReleaseFailed',
    message: 'bad',
    nodes: ['a'],
    count: 1,
    stops: true,
    release: 'r1',
    recoveredSince: at(step - 90),
  }
  const stoppedTime = { release: 'r1', startedAt: at(-900), seconds: 5, since: at(step - 100) }
  const status = { stoppedTime, failure }
  const tranche = { failure: { autoResume: '100s' } }
  const moved = movedTimes(new Map(), status, -step * 1000)
  const said = onceSaid(
    aView({
      status,
      tranche,
      annotations: { [daemonSetAnnotations.paused]: 'true' },
      record: { state: 'stopped', holds: [{ reason: 'ReleaseFailed', id: 'r1' }] },
      view: { movedTimes: moved },
    }),
  )
  expect(said.release.status).toMatchObject({ stoppedTime: { since: at(-100) }, failure: { stops: true, recoveredSince: at(-90) } })
})
