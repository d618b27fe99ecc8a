/**
 * Preloaded into a measured program: answers each message of its parent with the event loop delay and the garbage collection time since
 * the previous message.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

const late = monitorEventLoopDelay({ resolution: 1 })
late.enable()
let longestCollectionMs = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestCollectionMs = Math.max(longestCollectionMs, duration)
}).observe({ entryTypes: ['gc'] })

process.on('message', () => {
  process.send?.({ loopP99Ms: late.percentile(99) / 1e6, loopMaxMs: late.max / 1e6, longestCollectionMs })
  late.reset()
  longestCollectionMs = 0
})
process.channel?.unref()
