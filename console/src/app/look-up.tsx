import { Search } from 'lucide-preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icon';
import { useKeys } from '../parts/shortcuts';
import { useLookUp } from '../parts/use-look-up';
import { TEXT } from '../text/en';

/** Opens the screen of a delivery, an event or a webhook by its id, or the events with a subject. */
export function LookUp() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const { lookUp, isPending, said, forget } = useLookUp();
  useKeys({ '/': () => input.current?.focus() });
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim() !== '') lookUp(text, { onSuccess: (place) => place !== null && setText('') });
  };
  return (
    <form class="look-up" role="search" aria-label={TEXT.lookUp.label} onSubmit={submit}>
      <div class="filter-box">
        <Icon of={Search} />
        <input
          ref={input}
          type="search"
          aria-label={TEXT.lookUp.label}
          placeholder={TEXT.lookUp.label}
          title={TEXT.lookUp.hint}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            forget();
          }}
        />
      </div>
      <span role="status" class="small">
        {isPending ? TEXT.lookUp.looking : said}
      </span>
    </form>
  );
}
