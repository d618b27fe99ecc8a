import { actionTypes } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { createProcess } from '../scenarios/process.ts'
import { seenWhenThawed } from './api-program.ts'
import { generateSchedule } from './generate.ts'
import { createRemoteQueue } from './remote-queue.ts'
import type { Incident, Schedule, Shape } from './schedule.ts'
import { shrink } from './shrink.ts'
import { durationText } from './words.ts'

describe('a process of the API', () => {
  it('notices when it thaws that the sender of a request went away while it was frozen', async () => {
    const process = createProcess(new VirtualClock(), () => new Promise(() => {}))
    const sender = new AbortController()
    process.freeze()
    const gone = seenWhenThawed(process, sender.signal)
    sender.abort()
    await Promise.resolve()
    expect(gone.aborted).toBe(false)
    process.thaw()
    await process.whenThawed()
    expect(gone.aborted).toBe(true)
  })
})

describe('a process whose timer throws', () => {
  const throwing = (): never => {
    throw new RangeError('Invalid time value')
  }

  it('ends, and the clock continues', async () => {
    const clock = new VirtualClock()
    const uncaught: unknown[] = []
    const process = createProcess(
      clock,
      () => new Promise(() => {}),
      (error) => uncaught.push(error),
    )
    process.clock.setTimer(1, throwing)
    let isOver = false
    clock.setTimer(2, () => (isOver = true))
    await clock.run()
    expect(uncaught).toEqual([new RangeError('Invalid time value')])
    expect(isOver).toBe(true)
  })

  it('fails the run where nothing waits for its end', async () => {
    const clock = new VirtualClock()
    createProcess(clock, () => new Promise(() => {})).clock.setTimer(1, throwing)
    await expect(clock.run()).rejects.toThrow('Invalid time value')
  })
})

describe('a schedule', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(generateSchedule(7)).toEqual(generateSchedule(7))
    expect(generateSchedule(7)).not.toEqual(generateSchedule(8))
  })

  it('starts with a new template, and its incidents are in order and within the storm', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { incidents, stormMs } = generateSchedule(seed)
      const times = incidents.map(({ atMs }) => atMs)
      expect(incidents.some(({ kind, atMs }) => kind === 'template' && atMs === 1_000)).toBe(true)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(Math.max(...times)).toBeLessThanOrEqual(stormMs)
    }
  })

  it('stays the same with upgrades, except for admission, swaps of definitions and groups', () => {
    const withoutGroup = ({ companion, policy, ...shape }: Shape): Omit<Shape, 'companion'> => {
      const { downtime: { group: _, ...downtime } = {}, ...others } = policy ?? {}
      const rest = { ...others, ...(Object.keys(downtime).length > 0 && { downtime }) }
      return { ...shape, policy: companion !== undefined && Object.keys(rest).length === 0 ? null : policy && rest }
    }
    for (let seed = 1; seed <= 100; seed++) {
      const without = generateSchedule(seed)
      const { shape, incidents, stormMs } = generateSchedule(seed, 5)
      expect({ ...shape, admission: without.shape.admission }).toEqual(withoutGroup(without.shape))
      expect(stormMs).toBe(without.stormMs)
      expect(incidents).toEqual(
        expect.arrayContaining(without.incidents.filter(({ kind }) => kind !== 'swapDefinitions' && kind !== 'companionTemplate')),
      )
      expect(JSON.stringify(without)).not.toMatch(/"api-|"ask"|"upgrade"/)
    }
  })

  it('asks the API for every action, and injects every fault into its processes, over many seeds with upgrades', () => {
    const incidents = Array.from({ length: 100 }, (_, seed) => generateSchedule(seed, 5).incidents).flat()
    const asked = incidents.flatMap((incident) => (incident.kind === 'ask' ? [incident.type] : []))
    expect(new Set(asked)).toEqual(new Set(actionTypes))
    const injected = incidents.filter((incident) => /"api(-[ab])?"/.test(JSON.stringify(incident))).map(({ kind }) => kind)
    expect([...new Set(injected)].toSorted()).toEqual([
      'cutOff',
      'faultPhase',
      'freeze',
      'freezeBefore',
      'kill',
      'lag',
      'stepOwnClock',
      'trap',
    ])
  })

  it('hangs no call that returns a value, because its caller does not await it', () => {
    const incidents = Array.from({ length: 2_000 }, (_, seed) => generateSchedule(seed, 1).incidents).flat()
    const points = incidents.flatMap((incident) => (incident.kind === 'trap' && incident.mode === 'hang' ? incident.point : []))
    expect(points).toContain('queue.enqueue.before')
    expect(points).not.toContain('queue.process.before')
    expect(points).not.toContain('executor.read.before')
  })

  it('draws every kind of incident, over many seeds', () => {
    const kinds = new Set(Array.from({ length: 300 }, (_, seed) => generateSchedule(seed).incidents.map(({ kind }) => kind)).flat())
    expect([...kinds].toSorted()).toMatchInlineSnapshot(`
      [
        "act",
        "addNode",
        "approve",
        "badQueue",
        "budget",
        "companionTemplate",
        "consume",
        "copyAgent",
        "cordon",
        "crowd",
        "cutOff",
        "deleteConfig",
        "deleteDaemonSet",
        "deletePod",
        "deletePolicy",
        "deleteRelease",
        "deleteRollout",
        "deleteSecret",
        "disable",
        "drainByOther",
        "failPod",
        "faultPhase",
        "forgePod",
        "forgeRelease",
        "forgeRevision",
        "freeze",
        "freezeBefore",
        "holdNode",
        "jump",
        "kill",
        "labelSecret",
        "lag",
        "liftPodPolicy",
        "maintain",
        "minReady",
        "namePolicy",
        "noRegistry",
        "onDelete",
        "outOfService",
        "pause",
        "pinConfig",
        "policy",
        "quota",
        "reapply",
        "removeNode",
        "resume",
        "silenceNode",
        "spoilPolicy",
        "spoilStatus",
        "stepOwnClock",
        "stepServerClock",
        "steps",
        "stickPod",
        "swapDefinitions",
        "taint",
        "taintPool",
        "template",
        "trap",
        "writeConfig",
        "writeSecret",
        "zoneOutage",
      ]
    `)
  })
})

describe('shrink', () => {
  const schedule: Schedule = {
    ...generateSchedule(1),
    incidents: Array.from({ length: 20 }, (_, at): Incident => ({ atMs: at, kind: 'pause' })),
  }
  const failsWith =
    (...needed: readonly number[]) =>
    async ({ incidents }: Schedule): Promise<boolean> =>
      needed.every((atMs) => incidents.some((incident) => incident.atMs === atMs))

  it('leaves only the incidents that are needed', async () => {
    const { incidents } = await shrink(schedule, 100, failsWith(3, 17))
    expect(incidents.map(({ atMs }) => atMs)).toEqual([3, 17])
  })

  it('runs no more often than allowed, and keeps a schedule that fails', async () => {
    let asked = 0
    const { incidents } = await shrink(schedule, 5, async (smaller) => {
      asked++
      return failsWith(0, 19)(smaller)
    })
    expect(asked).toBe(5)
    expect(incidents.map(({ atMs }) => atMs)).toEqual(expect.arrayContaining([0, 19]))
  })
})

describe('the queue outside all programs', () => {
  it('gives the job of a frozen worker to another once its lock is lost, and no job to a frozen worker', async () => {
    const clock = new VirtualClock()
    const queue = createRemoteQueue(clock, () => ({ lost: false, doubled: false, delayMs: 0 }))
    const worked: string[] = []
    const start = (name: string) => {
      const process = createProcess(clock, () => Promise.reject(new Error('connection refused')))
      const end = queue.endFor(process)
      end.process(
        async (key) => {
          worked.push(`${name} ${key} ${clock.monotonicMs()}`)
          if (name === 'first') process.freeze()
          await process.whenThawed()
          return { kind: 'awaitChange' }
        },
        { concurrency: 1 },
      )
      return { process, end }
    }
    const first = start('first')
    await first.end.enqueue('a')
    await clock.run({ untilMs: 1_000 })
    const second = start('second')
    await second.end.enqueue('b')
    await clock.run({ untilMs: 60_000 })
    expect(worked).toEqual(['first a 0', 'second b 1000', 'second a 30000'])
  })

  it.each([
    ['lost', { lost: true, doubled: false, delayMs: 0 }, []],
    ['doubled', { lost: false, doubled: true, delayMs: 0 }, [0, 1_000]],
    ['delayed', { lost: false, doubled: false, delayMs: 5_000 }, [5_000]],
  ])('lets published targets be %s', async (_what, fault, times) => {
    const clock = new VirtualClock()
    const process = createProcess(clock, () => Promise.reject(new Error('connection refused')))
    const end = createRemoteQueue(clock, () => fault).endFor(process)
    const worked: number[] = []
    const handler = async () => {
      worked.push(clock.monotonicMs())
      return { kind: 'awaitChange' } as const
    }
    end.process(handler, { concurrency: 1 })
    await end.enqueue('a')
    await clock.run({ untilMs: 60_000 })
    expect(worked).toEqual(times)
  })
})

it.each([
  [250, '250 ms'],
  [12_000, '12 s'],
  [180_000, '3 min'],
  [-300_000, '-5 min'],
])('prints %i ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})
