# Five values of a loss that falls towards the level. The last trial, level 60, ends as the best one, unlike what its
# curve suggests. With a second argument, poor trials never end by themselves.
level=$1
if [ -n "$2" ] && [ "$level" -ge 40 ]; then echo "loss=$((level + 4))"; exec sleep 600; fi
for step in 1 2 3 4; do echo "loss=$((level + 5 - step))"; done
if [ "$level" = 60 ]; then echo "loss=1"; else echo "loss=$level"; fi
