import type { Exchange, WireRequest } from '@tranche/wire'
import type { Stage } from './stage.ts'

/** Time until a successor of a killed executor starts, in milliseconds. */
const RESTART_MS = 50

/** Kill of the program `executor-1` at one of its requests, counted from 0. `executor-2` succeeds it. */
export interface KillAtRequest {
  /** Tap of the stage. */
  readonly tap: (identity: string, exchange: Exchange) => Exchange
  /** Whether the program has sent that many requests. */
  isKilled(): boolean
}

/** @param when before the request is sent, or after the API server has answered it */
export function killAtRequest(stage: () => Stage, when: 'before' | 'after', at: number): KillAtRequest {
  let sent = 0
  let isKilled = false
  const kill = (): void => {
    const { kill: end, process } = stage().program('executor-1')
    end()
    process.cutOff()
    isKilled = true
    stage().clock.setTimer(RESTART_MS, () => void stage().startExecutor('executor-2'))
  }
  const counted =
    (exchange: Exchange): Exchange =>
    async (request, signal) => {
      const isTheOne = isAction(request) && !isKilled && sent++ === at
      if (isTheOne && when === 'before') {
        kill()
        throw new Error('the process is dead')
      }
      const answer = await exchange(request, signal)
      if (isTheOne) kill()
      return answer
    }
  return { tap: (identity, exchange) => (identity === 'executor-1' ? counted(exchange) : exchange), isKilled: () => isKilled }
}

/** Requests other than the lists and watches of the cache. */
function isAction({ method, path }: WireRequest): boolean {
  return method !== 'GET' || path.includes('fieldSelector=spec.nodeName') || /\/(nodes|batchreleases)\/[^/?]+$/.test(path)
}
