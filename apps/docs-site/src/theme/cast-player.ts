import { computed, type ComputedRef, defineComponent, h, nextTick, onBeforeUnmount, onMounted, type Ref, ref } from 'vue'
import { type Cast, readCast } from '../cast/cast.ts'

/** Times the speed of the recording; a release has long waits. */
const SPEED = 3

/** Plays a recording of a program that prints lines. It starts when the reader asks for it, and shows the last lines until then. */
export const CastPlayer = defineComponent({
  name: 'CastPlayer',
  props: { src: { type: String, required: true } },
  setup(props, { slots }) {
    const cast = ref<Cast | null>(null)
    const screen = ref<HTMLElement | null>(null)
    const duration = computed(() => cast.value?.frames.at(-1)?.seconds ?? 0)
    const { seconds, isPlaying, move, play, stop } = usePlayback(duration, screen)
    const text = computed(() => shown(cast.value, seconds.value))

    onMounted(async () => {
      const answer = await fetch(props.src)
      cast.value = readCast(await answer.text())
      move(duration.value)
    })
    onBeforeUnmount(stop)

    return () =>
      h('span', { class: 'cast-player', role: 'group', 'aria-label': cast.value?.title ?? 'Recording' }, [
        h('span', { class: 'cast-title' }, slots['default']?.()),
        h('code', { class: 'cast-screen', ref: screen, tabindex: 0 }, text.value),
        h('span', { class: 'cast-controls' }, [
          h('button', { type: 'button', onClick: () => (isPlaying.value ? stop() : play()) }, isPlaying.value ? 'Pause' : 'Play'),
          h('input', {
            type: 'range',
            min: 0,
            max: duration.value,
            step: 0.1,
            value: seconds.value,
            'aria-label': 'Position in seconds',
            onInput: (event: Event) => move(Number((event.target as HTMLInputElement).value)),
          }),
          h('span', { class: 'cast-time' }, `${Math.round(seconds.value)} of ${Math.round(duration.value)} s`),
        ]),
      ])
  },
})

interface Playback {
  readonly seconds: Ref<number>
  readonly isPlaying: Ref<boolean>
  move(to: number): void
  play(): void
  stop(): void
}

/** The position in a recording, which `play` moves forward until the end. The screen stays at its last line. */
function usePlayback(duration: ComputedRef<number>, screen: Ref<HTMLElement | null>): Playback {
  const seconds = ref(0)
  const isPlaying = ref(false)
  let timer: number | undefined

  function move(to: number): void {
    seconds.value = Math.min(to, duration.value)
    if (seconds.value >= duration.value) stop()
    void nextTick(() => screen.value?.scrollTo({ top: screen.value.scrollHeight }))
  }
  function play(): void {
    if (seconds.value >= duration.value) seconds.value = 0
    isPlaying.value = true
    let before = performance.now()
    timer = window.setInterval(() => {
      const now = performance.now()
      move(seconds.value + ((now - before) / 1_000) * SPEED)
      before = now
    }, 100)
  }
  function stop(): void {
    window.clearInterval(timer)
    isPlaying.value = false
  }
  return { seconds, isPlaying, move, play, stop }
}

function shown(cast: Cast | null, until: number): string {
  const frames = cast?.frames.filter(({ seconds }) => seconds <= until) ?? []
  return frames.map(({ text }) => text.replaceAll('\r', '')).join('')
}
