// The card that the keyboard carries, and the lane that it was taken from.

let card = $state('');
let from = $state('');

export const carrying = {
  get card() { return card; },
  get from() { return from; },
  take(id: string, lane: string) {
    card = id;
    from = lane;
  },
  put() { card = from = ''; },
};
